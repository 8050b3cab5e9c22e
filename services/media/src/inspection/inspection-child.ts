import { checkFile } from "./inspect-file.ts";
import type { CheckReply, CheckRequest } from "./inspection-protocol.ts";

/**
 * The process in which files of strangers are read: it knows no secret, has no connection but the one to its parent, and
 * is killed when it takes too much. It does one file at a time.
 */
function reply(message: CheckReply): void {
  process.send?.(message);
}

async function answer({ path, declared, limits }: CheckRequest): Promise<void> {
  try {
    const result = await checkFile(path, {
      declared,
      limits,
      onProgress: () => reply({ kind: "progress" }),
    });
    reply({ kind: "done", result });
  } catch (error) {
    reply({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

process.on("message", (request: CheckRequest) => void answer(request));
process.on("disconnect", () => process.exit(0));
// Signals of a terminal reach the whole group; the parent says when this process ends.
process.on("SIGINT", () => undefined);
// What it took to start is not the first file's time.
reply({ kind: "progress" });
