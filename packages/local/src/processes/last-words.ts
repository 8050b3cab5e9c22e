import { readFileSync } from "node:fs";

const longest = 400;

/** Returns the last error in the log of a process in one line; empty when the log has no error. */
export function lastWords(logText: string): string {
  const lines = logText.split("\n");
  const start = lines.findLastIndex((line) => /^\w*Error\b/.test(line));
  if (start < 0) return "";

  const stack = lines.findIndex((line, index) => index > start && /^\s+at /.test(line));
  const message = lines.slice(start, stack < 0 ? undefined : stack);
  return message
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("Node.js v"))
    .join(" ")
    .slice(0, longest);
}

/** Returns the last error in a log file, in brackets together with the name of the file. */
export function quoteLog(logFile: string): string {
  const words = lastWords(readFileSync(logFile, "utf8"));
  return words === "" ? `see ${logFile}` : `${words} (${logFile})`;
}
