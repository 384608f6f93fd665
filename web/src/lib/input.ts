// What a model reads: a text, or the fields of a row of a model with a head; kept in the address of the page.
import { EXAMPLES } from "./examples";
import { route } from "./route.svelte";

export interface Given { text: string; fields: Record<string, string>; choices: string[] }

const BEGIN: Record<string, string> = {
  text: EXAMPLES.review, second: "The film is boring.", question: "Where is the dog?",
  context: "Anna has a small dog. The dog is in the garden.", choices: "It sleeps.\nIt reads a book.", first: "The dog is tired.", next: "It sleeps in the garden.",
};

/** Return a field of a row as it is in the address, or an example. */
export function field(name: string): string {
  return route.get(`f-${name}`, BEGIN[name] ?? "");
}

/** Return the row that the fields of the address make. */
export function rowOf(names: string[]): Given {
  const fields = Object.fromEntries(names.filter((each) => each !== "choices").map((each) => [each, field(each)]));
  const choices = names.includes("choices") ? field("choices").split("\n").map((each) => each.trim()).filter(Boolean) : [];
  return { text: "", fields, choices };
}

export const LABELS: Record<string, string> = {
  text: "Text", second: "Second text", question: "Question", context: "Context", choices: "Choices (one a line)",
};
