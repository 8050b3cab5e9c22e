import { Code, ConnectError } from "@connectrpc/connect";
import type { Logger } from "#src/telemetry/logger.ts";
import type { TrustConfig } from "./settings.ts";
import { IDENTITY_HEADER } from "./token-source.ts";
import { createTokenVerifier } from "./token-verifier.ts";

/** The names of the processes that may call each RPC, by `<service>/<method>` of the contracts. */
export type CallerTable = Readonly<Record<string, readonly string[]>>;

/** Reads a request header by its lower-case name. */
export type ReadHeader = (name: string) => string | undefined;

/** Decides which process calls a service, and what this caller may call. */
export interface Access {
  /**
   * Returns the name of the calling process. The result is a promise only if the caller's identity token was not
   * verified before.
   *
   * @throws ConnectError `unauthenticated`.
   */
  authenticate(header: ReadHeader): string | Promise<string>;
  /**
   * Allows a call or refuses it.
   *
   * @param what The RPC or route, for the message.
   * @throws ConnectError `permission_denied` when the caller is not in the list.
   */
  authorize(caller: string, allowed: readonly string[], what: string): void;
  /** The processes that may call an RPC, by its `<service>/<method>`. */
  callersOf(method: string): readonly string[];
}

export interface AccessOptions extends TrustConfig {
  /** Name of this service: tokens for another service are refused. */
  readonly service: string;
  readonly callers: CallerTable;
  readonly logger: Logger;
  /** The wall clock in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Creates the access rules of a service: callers prove who they are with a signed token, and may call only the RPCs
 * that list them as callers.
 */
export function createAccess(options: AccessOptions): Access {
  const { service, callers, logger, trustedKeys } = options;
  const verify = createTokenVerifier(service, trustedKeys, options.now);
  return {
    authenticate: (header) => {
      const token = header(IDENTITY_HEADER);
      if (token === undefined) throw noToken();
      return verify(token);
    },
    authorize: (caller, allowed, what) => {
      if (allowed.includes(caller)) return;
      logger.warn(
        { caller, rpc: what },
        "a service called an RPC that its code never calls, and was refused; check whether the service's private key was stolen",
      );
      throw new ConnectError(`${caller} may not call ${what}`, Code.PermissionDenied);
    },
    callersOf: (method) => callers[method] ?? [],
  };
}

/**
 * Whether an error says that the identity of the caller is not accepted; handlers of RPCs never throw such an error. The server
 * then closes the connection: the clock of this process may be wrong, and the caller's next connection reaches another process
 * as soon as the load balancer knows that this one is not ready.
 */
export function isIdentityRefused({ code }: ConnectError): boolean {
  return code === Code.Unauthenticated;
}

function noToken(): ConnectError {
  return new ConnectError(
    `the header ${IDENTITY_HEADER} is missing; only Postrider's services and its operator's tool may call this service`,
    Code.Unauthenticated,
  );
}
