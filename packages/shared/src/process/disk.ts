import { statfs } from "node:fs/promises";
import { createGauge } from "#src/telemetry/metrics.ts";

const folders = new Map<string, string>();

createGauge("disk_free_ratio", "Free part of a volume, from 0 to 1.", ["volume"], async (gauge) => {
  for (const [volume, folder] of folders) {
    const ratio = await measure(folder);
    if (ratio === undefined) gauge.remove({ volume });
    else gauge.set({ volume }, ratio);
  }
});

/** Returns the free fraction of a folder's disk, from 0 to 1; undefined for a folder that does not exist yet. */
async function measure(folder: string): Promise<number | undefined> {
  try {
    const { bavail, blocks } = await statfs(folder);
    return blocks === 0 ? 1 : bavail / blocks;
  } catch {
    return undefined;
  }
}

/** Reports how much of a folder's disk is free; `volume` says what the folder is for. */
export function watchDisk(volume: string, folder: string): void {
  folders.set(volume, folder);
}
