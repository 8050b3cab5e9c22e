import type { CredentialRefresher } from "#src/operations/credential-refresher.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/** What the RPCs of this service are built from; each takes the part that it needs. */
export interface RpcDependencies extends Dependencies {
  /** Undefined = simulated accounts cannot be connected. */
  readonly simulatorUrl: string | undefined;
  /** Where browsers and platforms reach the gateway, without a trailing slash. */
  readonly publicUrl: string;
  /** Records that an API key was used; a job writes it later. */
  readonly noteKeyUse: (keyId: string) => void;
  readonly refresher: CredentialRefresher;
}
