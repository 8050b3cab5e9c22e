import { readJsonFile } from "#src/json-file.ts";
import type { ServiceName } from "#src/services.ts";
import type { TimeSettings } from "#src/time-settings.ts";

/** A replica of a service. `pid` is the listening process itself. */
export interface LocalService {
  readonly pid: number;
  readonly url: string;
  readonly metricsUrl: string;
}

/** A connected account of the demo workspace. */
export interface LocalAccount {
  readonly id: string;
  readonly platform: string;
  readonly username: string;
  readonly externalId: string;
}

/** `.postrider/local.json`: what tools and tests know of the running stack. */
export interface LocalStack {
  /** Without `/api/v1`. */
  readonly baseUrl: string;
  readonly docsUrl: string;
  /** Has every scope. */
  readonly apiKey: string;
  readonly workspaceId: string;
  readonly accounts: readonly LocalAccount[];
  readonly simulatorUrl: string;
  /** The owner's; it may read every schema. */
  readonly databaseUrl: string;
  readonly bus: "postgres" | "kafka";
  /** Seconds. */
  readonly time: TimeSettings;
  readonly services: Readonly<Record<ServiceName, readonly LocalService[]>>;
  /** null when `DATABASE_URL` names another one. */
  readonly postgres: {
    readonly pid: number;
    readonly dataDir: string;
    readonly port: number;
  } | null;
  /** null without a broker of our own. */
  readonly kafka: { readonly pid: number; readonly port: number } | null;
  readonly simulator: { readonly pid: number };
  /** A folder with one file per process. */
  readonly logs: string;
}

/** Reads the description of the running stack; undefined when none runs. */
export function readLocalStack(file: string): LocalStack | undefined {
  // Only the launcher writes this file, whole; who changes it by hand reads what they wrote.
  return readJsonFile(file) as LocalStack | undefined;
}
