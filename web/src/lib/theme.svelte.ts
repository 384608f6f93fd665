// Light or dark: as the system has it, until somebody chooses.
class Theme {
  chosen = $state<"" | "light" | "dark">("");
  #system = $state(matchMedia("(prefers-color-scheme: dark)").matches);

  constructor() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => (this.#system = event.matches));
  }

  get isDark(): boolean {
    return this.chosen ? this.chosen === "dark" : this.#system;
  }

  turn(): void {
    this.chosen = this.isDark ? "light" : "dark";
    document.documentElement.dataset.theme = this.chosen;
  }
}

export const theme = new Theme();
