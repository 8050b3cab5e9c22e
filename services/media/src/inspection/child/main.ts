import { flushCompileCache } from "node:module";
import type { InspectionReply, InspectionRequest } from "#src/inspection/inspection-protocol.ts";
import { inspectFile } from "./inspect-file.ts";
import { remuxFile } from "./remux-file.ts";
import { renderFile } from "./render-file.ts";

/**
 * Main program of an inspection process: inspects one untrusted file, or makes renditions of it. The process gets the file as an
 * open descriptor. Its parent process kills it when it exceeds a limit, and after the inspection. `InspectionProcess` says what a
 * hostile file can reach in this process.
 */
function reply(message: InspectionReply): void {
  process.send?.(message);
}

async function answer(request: InspectionRequest): Promise<void> {
  const onProgress = () => reply({ kind: "progress" });
  try {
    if ("kind" in request) {
      const render = request.contentType.startsWith("video/") ? remuxFile : renderFile;
      reply({ kind: "rendered", ...(await render(request, onProgress)) });
    } else reply({ kind: "done", result: await inspectFile({ ...request, onProgress }) });
  } catch (error) {
    reply({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

process.once("message", (request: InspectionRequest) => void answer(request));
process.on("disconnect", () => process.exit(0));
// Ctrl-C in a terminal also signals this child process. It ignores the signal, because its parent decides when it ends.
process.on("SIGINT", () => undefined);
// Node writes its cache of compiled modules when a process exits. The parent kills this process, so the cache is written now.
flushCompileCache();
// The time limit of the file restarts with this message, so that it does not include the time for loading Node and the libraries.
reply({ kind: "progress" });
