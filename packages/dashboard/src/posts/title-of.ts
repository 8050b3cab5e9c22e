const MAX_LENGTH = 60;

/**
 * The beginning of a text as a title: its first line, to the end of a sentence where one is near.
 */
export function titleOf(content: string): string {
  const line = content.trim().split("\n")[0] ?? "";
  const sentence = /^.{8,60}?(?=[.!?:](?:\s|$))/u.exec(line)?.[0] ?? line;
  if (sentence.length <= MAX_LENGTH) return sentence;
  const words = sentence.slice(0, MAX_LENGTH).replace(/\s+\S*$/u, "");
  return `${words}…`;
}
