import type { InspectionReply, InspectionRequest } from "#src/inspection/inspection-protocol.ts";
import { inspectFile } from "./inspect-file.ts";

/**
 * The child process of the media service that inspects untrusted files. It has no secrets and no connection except to
 * its parent, which kills it when it exceeds a limit. It inspects one file at a time.
 */
function reply(message: InspectionReply): void {
  process.send?.(message);
}

async function inspect({ path, declared, limits }: InspectionRequest): Promise<void> {
  try {
    const result = await inspectFile(path, {
      declared,
      limits,
      onProgress: () => reply({ kind: "progress" }),
    });
    reply({ kind: "done", result });
  } catch (error) {
    reply({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

process.on("message", (request: InspectionRequest) => void inspect(request));
process.on("disconnect", () => process.exit(0));
// Ctrl-C in a terminal also signals this child process. It ignores the signal, because its parent decides when it ends.
process.on("SIGINT", () => undefined);
// Loading Node and the libraries must not count against the time limit of the first file, so this message restarts it.
reply({ kind: "progress" });
