import { statfs } from "node:fs/promises";
import { createGauge } from "#src/telemetry/metrics.ts";

const folders = new Map<string, string>();

createGauge(
  "disk_free_ratio",
  "The part of a volume that is free, 0 to 1.",
  ["volume"],
  async (gauge) => {
    for (const [volume, folder] of folders) {
      const ratio = await measure(folder);
      if (ratio === undefined) gauge.remove({ volume });
      else gauge.set({ volume }, ratio);
    }
  },
);

/** A folder that is not there yet has nothing to tell. */
async function measure(folder: string): Promise<number | undefined> {
  try {
    const { bavail, blocks } = await statfs(folder);
    return blocks === 0 ? 1 : bavail / blocks;
  } catch {
    return undefined;
  }
}

/** Tells how full the disk of a folder is; `volume` names what the folder is for. */
export function watchDisk(volume: string, folder: string): void {
  folders.set(volume, folder);
}
