import { readFileSync, renameSync, writeFileSync } from "node:fs";

/**
 * For its owner only, in one atomic step: others read either the old text or the new one. With
 * `flush` it is on disk before the call returns.
 */
export function writeJsonFile(path: string, value: unknown, { flush = false } = {}): void {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush });
  renameSync(unfinished, path);
}

/** @param remedy What to do about a file that is not JSON. */
export function readJsonFile(path: string, remedy = "delete it"): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;

    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not valid JSON; ${remedy}`, { cause: error });
  }
}
