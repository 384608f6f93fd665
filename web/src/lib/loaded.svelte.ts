import { onDestroy } from "svelte";

// The answer to the newest request: an older one that arrives late is dropped, and cancelled on the server.
export class Loaded<T> {
  value = $state.raw<T | null>(null);
  error = $state("");
  busy = $state(false);
  #controller: AbortController | null = null;

  /** Made by a component: once it is gone, nobody waits for its answer. */
  constructor() {
    onDestroy(() => this.#controller?.abort());
  }

  async run(make: (signal: AbortSignal) => Promise<T>): Promise<void> {
    this.#controller?.abort();
    const controller = new AbortController();
    this.#controller = controller;
    this.busy = true;
    this.error = "";
    try {
      const value = await make(controller.signal);
      if (this.#controller === controller) this.value = value;
    } catch (error) {
      if (this.#controller === controller && !controller.signal.aborted) this.error = (error as Error).message;
    } finally {
      if (this.#controller === controller) this.busy = false;
    }
  }

  stop(): void {
    this.#controller?.abort();
    this.#controller = null;
    this.busy = false;
  }

  /** Forget the answer, and the question that is under way. */
  clear(): void {
    this.stop();
    this.value = null;
    this.error = "";
  }
}
