import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect } from "vitest";

/**
 * Id of an account in the examples of `docs/api`, which readers replace by the id of their own
 * account.
 */
export const EXAMPLE_ACCOUNT = "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1a";

/** Returns the code blocks of a document in `docs` that are marked with the given language. */
export function blocksIn(path: string, language: string): readonly string[] {
  const text = readFileSync(new URL(`../../../docs/${path}`, import.meta.url), "utf8");
  const blocks = text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"));
  return [...blocks].map(([, block = ""]) => block);
}

/**
 * Runs a shell example and returns what it prints. Fails if Postrider answers a request of the
 * example with an error.
 */
export async function runShell(
  example: string,
  variables: Readonly<Record<string, string>>,
  folder?: string,
): Promise<string> {
  const script = `curl() { command curl --silent --show-error --fail-with-body "$@"; }\nset -e\n${example}`;
  const shell = spawn("bash", ["-c", script], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  shell.once("close", resolve);
  const status = await promise;
  expect(status, `${example}${printed}`).toBe(0);
  return printed;
}
