// Texts that fields begin with: in the spirit of a first sentence, until the user writes one.
export const EXAMPLES = {
  source: "Der kleine Hund schläft im Garten.",
  text: "The dog did not cross the street because it was too tired.",
  review: "The new film is a delight from beginning to end.",
  prompt: "I went to class and took",
  masked: "The child reads a [MASK] in the garden.",
  bank: "I was sitting by the river bank.\nI went to the bank and sat on the bench.\nThe bank was closed on Sunday.",
};
