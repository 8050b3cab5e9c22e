import { flushCompileCache } from "node:module";
import type { InspectionReply, InspectionRequest } from "#src/inspection/inspection-protocol.ts";
import { inspectFile } from "./inspect-file.ts";
import { renderFile } from "./render-file.ts";

/**
 * The process that inspects one untrusted file, or makes renditions of it, which it has as a descriptor. Its parent kills it when it exceeds a
 * limit, and after the inspection. `InspectionProcess` says what it can reach.
 */
function reply(message: InspectionReply): void {
  process.send?.(message);
}

async function answer(request: InspectionRequest): Promise<void> {
  const onProgress = () => reply({ kind: "progress" });
  try {
    if ("kind" in request) reply({ kind: "rendered", ...(await renderFile(request, onProgress)) });
    else reply({ kind: "done", result: await inspectFile({ ...request, onProgress }) });
  } catch (error) {
    reply({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

process.once("message", (request: InspectionRequest) => void answer(request));
process.on("disconnect", () => process.exit(0));
// Ctrl-C in a terminal also signals this child process. It ignores the signal, because its parent decides when it ends.
process.on("SIGINT", () => undefined);
// The parent kills this process, which would otherwise write the cache of compiled modules when it exits.
flushCompileCache();
// Loading Node and the libraries must not count against the time limit of the file, so this message restarts it.
reply({ kind: "progress" });
