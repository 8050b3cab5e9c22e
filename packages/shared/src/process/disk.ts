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

async function measure(folder: string): Promise<number | undefined> {
  try {
    const { bavail, blocks } = await statfs(folder);
    return blocks === 0 ? 1 : bavail / blocks;
  } catch {
    return undefined;
  }
}

export function watchDisk(volume: string, folder: string): void {
  folders.set(volume, folder);
}
