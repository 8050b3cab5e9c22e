import { flushCompileCache } from "node:module";
import type { InspectionReply, InspectionRequest } from "#src/inspection/inspection-protocol.ts";
import { inspectFile } from "./inspect-file.ts";
import { remuxFile } from "./remux-file.ts";
import { renderFile } from "./render-file.ts";

/**
 * Inspects one untrusted file, or makes renditions of it. The parent kills this process when it
 * exceeds a limit, and after the inspection. `InspectionProcess` says what a hostile file can reach
 * here.
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
// Ctrl-C also signals this process, but its parent decides when it ends.
process.on("SIGINT", () => undefined);
// Node would write the cache when the process exits; the parent kills it.
flushCompileCache();
// The time limit restarts, so that it does not include loading Node and the libraries.
reply({ kind: "progress" });
