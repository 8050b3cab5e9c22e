import type { Readable } from "node:stream";

const LONGEST_LINE = 1_000_000;

/**
 * Passes the lines of a process on, each as a whole: several processes that write to one pipe would
 * mix lines that are longer than 4 kB. What is not JSON, such as the last words of a process that
 * crashes, goes to `onText`.
 */
export function relayLines(
  from: Readable,
  { write, onText }: { write: (lines: string) => void; onText: (text: string) => void },
): void {
  let rest = "";
  const relay = (lines: readonly string[]): void => {
    const json = lines.filter((line) => line.startsWith("{"));
    const text = lines.filter((line) => line.trim() !== "" && !line.startsWith("{"));
    if (json.length > 0) write(`${json.join("\n")}\n`);
    if (text.length > 0) onText(text.join("\n"));
  };
  from.setEncoding("utf8");
  from.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    relay(lines);
    if (rest.length > LONGEST_LINE) {
      onText(rest);
      rest = "";
    }
  });
  from.on("end", () => relay([rest]));
  // The process has ended; its exit says why.
  from.on("error", () => {});
}
