import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBundleCurrent } from "@postrider/shared/process/bundle-inputs";

const SOURCE = fileURLToPath(new URL("child/main.ts", import.meta.url));
const DIST = fileURLToPath(new URL("../../dist", import.meta.url));

/** The bundle starts in half the processor time, and is used unless a module has changed. */
export function findInspectionProgram(dist = DIST): string {
  const isCurrent = isBundleCurrent(join(dist, "inspection-inputs.json"));
  return isCurrent ? join(dist, "inspection.js") : SOURCE;
}
