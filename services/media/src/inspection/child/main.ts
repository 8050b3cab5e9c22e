import { flushCompileCache } from "node:module";
import type { InspectionReply, InspectionRequest } from "#src/inspection/inspection-protocol.ts";
import { inspectFile } from "./inspect-file.ts";

/**
 * The process that inspects one untrusted file, which it has as a descriptor. Its parent kills it when it exceeds a
 * limit, and after the inspection. `InspectionProcess` says what it can reach.
 */
function reply(message: InspectionReply): void {
  process.send?.(message);
}

async function inspect({ declared, limits }: InspectionRequest): Promise<void> {
  try {
    const result = await inspectFile({
      declared,
      limits,
      onProgress: () => reply({ kind: "progress" }),
    });
    reply({ kind: "done", result });
  } catch (error) {
    reply({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

process.once("message", (request: InspectionRequest) => void inspect(request));
process.on("disconnect", () => process.exit(0));
// Ctrl-C in a terminal also signals this child process. It ignores the signal, because its parent decides when it ends.
process.on("SIGINT", () => undefined);
// The parent kills this process, which would otherwise write the cache of compiled modules when it exits.
flushCompileCache();
// Loading Node and the libraries must not count against the time limit of the file, so this message restarts it.
reply({ kind: "progress" });
