import { readJsonFile } from "#src/processes/json-file.ts";
import type { ServiceName } from "#src/stack/services.ts";
import type { TimeSettings } from "#src/stack/time-settings.ts";

/** `pid` is that of the listening process itself. */
export interface LocalService {
  readonly pid: number;
  readonly url: string;
  readonly metricsUrl: string;
}

export interface LocalAccount {
  readonly id: string;
  readonly platform: string;
  readonly username: string;
  readonly externalId: string;
}

/** `.postrider/local.json`: the description of the running stack for tools and tests. */
export interface LocalStack {
  readonly baseUrl: string;
  readonly docsUrl: string;
  /** API key of the demo workspace, with every scope. */
  readonly apiKey: string;
  readonly workspaceId: string;
  readonly accounts: readonly LocalAccount[];
  readonly simulatorUrl: string;
  /** Connection URL of the database owner, who may read every schema. */
  readonly databaseUrl: string;
  readonly bus: "postgres" | "kafka";
  readonly time: TimeSettings;
  readonly services: Readonly<Record<ServiceName, readonly LocalService[]>>;
  /** The embedded Postgres; null when `DATABASE_URL` names a Postgres outside of the stack. */
  readonly postgres: {
    readonly pid: number;
    readonly dataDir: string;
    readonly port: number;
  } | null;
  readonly kafka: { readonly pid: number; readonly port: number } | null;
  readonly simulator: { readonly pid: number };
  readonly logs: string;
}

export function readLocalStack(file: string): LocalStack | undefined {
  // The content of `local.json` is not validated, because only the launcher writes the file.
  return readJsonFile(file) as LocalStack | undefined;
}
