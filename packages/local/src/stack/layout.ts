import { join } from "node:path";

export const root = join(import.meta.dirname, "../../../..");

/** Folder of Node's compile cache for all Postrider processes, which halves the time to load a service. */
export const compileCache: string = join(root, "node_modules/.postrider/compile-cache");

export interface Layout {
  readonly dataDir: string;
  readonly secretsFile: string;
  /** The description of the running stack (`local.json`), which other tools read. */
  readonly localFile: string;
  /**
   * File that the launcher of a local stack keeps locked. It is never deleted, because otherwise two launchers could
   * each lock a file of their own.
   */
  readonly lockFile: string;
  /** File that identifies the launcher, which is the process that runs the stack. */
  readonly launcherFile: string;
  /** File that identifies the processes that the launcher started. */
  readonly processesFile: string;
  readonly logs: string;
  /**
   * Folder of the hold files: a file with the name of a process of the stack, such as `posts`, keeps that process down.
   */
  readonly hold: string;
  readonly postgres: string;
  readonly kafka: string;
  readonly simulator: string;
  readonly media: string;
  readonly mediaTemp: string;
}

/** Returns the paths inside a data folder; creates no file or folder. */
export function layoutOf(dataDir: string): Layout {
  return {
    dataDir,
    secretsFile: join(dataDir, "secrets.json"),
    localFile: join(dataDir, "local.json"),
    lockFile: join(dataDir, "launcher.lock"),
    launcherFile: join(dataDir, "launcher.json"),
    processesFile: join(dataDir, "processes.json"),
    logs: join(dataDir, "logs"),
    hold: join(dataDir, "hold"),
    postgres: join(dataDir, "postgres"),
    kafka: join(dataDir, "kafka"),
    simulator: join(dataDir, "simulator"),
    media: join(dataDir, "media"),
    mediaTemp: join(dataDir, "media-temp"),
  };
}
