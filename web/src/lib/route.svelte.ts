// What is shown, kept in the address: a link restores it.
export class Route {
  view = $state("runs");
  values = $state<Record<string, string>>({});

  constructor() {
    this.#read();
    addEventListener("hashchange", () => this.#read());
    addEventListener("popstate", () => this.#read());
  }

  #read(): void {
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
    this.view = path || "runs";
    this.values = Object.fromEntries(new URLSearchParams(query ?? ""));
  }

  get(name: string, fallback = ""): string {
    return this.values[name] ?? fallback;
  }

  number(name: string, fallback: number): number {
    const value = Number(this.values[name]);
    return name in this.values && Number.isFinite(value) ? value : fallback;
  }

  /** Change some values in place; undefined and "" remove one. */
  set(changes: Record<string, string | number | undefined>): void {
    const next = { ...this.values };
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === "") delete next[name];
      else next[name] = String(value);
    }
    this.values = next;
    history.replaceState(null, "", this.link(this.view, next));
  }

  link(view: string, values: Record<string, string> = {}): string {
    const query = new URLSearchParams(values).toString();
    return `#/${view}${query ? `?${query}` : ""}`;
  }

  go(view: string, values: Record<string, string> = {}): void {
    location.hash = this.link(view, values);
  }
}

export const route = new Route();
