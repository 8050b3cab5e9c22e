import { readFileSync } from "node:fs";

const longest = 400;

/** The last error that a process wrote into its log before it ended, in one line; empty when it wrote none. */
export function lastWords(logText: string): string {
  const lines = logText.split("\n");
  const start = lines.findLastIndex((line) => /^\w*Error\b/.test(line));
  if (start < 0) {
    return "";
  }
  const stack = lines.findIndex((line, index) => index > start && /^\s+at /.test(line));
  const message = lines.slice(start, stack < 0 ? undefined : stack);
  return message
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("Node.js v"))
    .join(" ")
    .slice(0, longest);
}

/** The same of a log file, in brackets that name the file. */
export function quoteLog(logFile: string): string {
  const words = lastWords(readFileSync(logFile, "utf8"));
  return words === "" ? `see ${logFile}` : `${words} (${logFile})`;
}
