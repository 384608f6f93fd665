// Calls of the server: typed by the messages that its own models define.
import type { Calls, Floats, GenerationEvent, GenerationRequest } from "../messages";

export class Refusal extends Error {}

async function post(name: string, request: unknown, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`studio/${name}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(request), signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal("The studio does not answer; start it again, and this page goes on.");
  }
  if (!response.ok) throw new Refusal(await sentence(response));
  return response;
}

async function sentence(response: Response): Promise<string> {
  try {
    return (await response.json()).error.message;
  } catch {
    return `The server answers ${response.status}.`;
  }
}

export async function call<N extends keyof Calls>(
  name: N,
  request: Calls[N][0],
  signal?: AbortSignal,
): Promise<Calls[N][1]> {
  return (await post(name, request, signal)).json();
}

/** Yield each generated token as its line arrives. */
export async function* generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
  const response = await post("generate", request, signal);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const event = JSON.parse(line);
      if ("error" in event) throw new Refusal(event.error);
      yield event;
    }
  }
}

/** Return the numbers of an array message. */
export function numbers(message: Floats): Float32Array {
  const direct = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (direct) return new Float32Array(direct(message.base64).buffer as ArrayBuffer);
  const text = atob(message.base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}
