// The runs of the folder, read anew again and again while somebody looks at them.
import type { RunLine } from "../messages";
import { call } from "./api";

class Runs {
  list = $state.raw<RunLine[]>([]);
  folder = $state("");
  isRead = $state(false);
  /** The run that was looked at last: another view begins with it. */
  last = "";
  error = $state("");

  async read(): Promise<void> {
    try {
      const view = await call("runs", {});
      this.list = view.runs;
      this.folder = view.folder;
      this.error = "";
    } catch (error) {
      this.error = (error as Error).message;
    }
    this.isRead = true;
  }
}

export const runs = new Runs();
