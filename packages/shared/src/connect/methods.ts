import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { ServiceError, unavailable } from "#src/errors.ts";
import { addCount } from "#src/limits/add-count.ts";
import type { PoolState } from "#src/postgres/pool-wait.ts";
import { findContext } from "#src/telemetry/request-context.ts";

/** While this number is in work, a busy service admits no further call. */
const MAX_IN_WORK = 200;

/**
 * The RPCs that a service works on, by workspace. While the service is busy, those of the
 * workspaces with the most are refused: otherwise one workspace with many slow calls would make it
 * refuse the calls of all.
 */
export class CallsInWork {
  readonly #byOwner = new Map<string, number>();
  #total = 0;

  begin(owner: string): Disposable {
    this.#add(owner, 1);
    return { [Symbol.dispose]: () => this.#add(owner, -1) };
  }

  /** Whether the owner has at least its equal part of all calls, or no further one has room. */
  hasItsPart(owner: string): boolean {
    const own = this.#byOwner.get(owner) ?? 0;
    if (this.#total >= MAX_IN_WORK) return true;
    return own > 0 && own >= this.#total / this.#byOwner.size;
  }

  #add(owner: string, change: 1 | -1): void {
    this.#total += change;
    addCount(this.#byOwner, owner, change);
  }
}

type Methods<S extends DescService, D> = {
  readonly [K in keyof ServiceImpl<S>]: ServiceImpl<S>[K] extends (
    request: infer Request,
    ...rest: never[]
  ) => infer Response
    ? (deps: D, request: Request) => Response
    : never;
};

/** A table that lacks a method of the contract does not compile. */
export function serveMethods<S extends DescService, D>(
  router: ConnectRouter,
  deps: D,
  service: S,
  methods: Methods<S, D>,
): void {
  const named = Object.entries(methods as Record<string, (deps: D, request: unknown) => unknown>);
  const bound = named.map(([name, method]) => [name, (request: unknown) => method(deps, request)]);
  router.service(service, Object.fromEntries(bound) as ServiceImpl<S>);
}

type Routes = (router: ConnectRouter) => void;
type Handler = (...args: readonly unknown[]) => unknown;

/**
 * Refuses RPCs while the database does not answer, those of the largest callers while many
 * statements wait, and those whose caller waits no longer.
 */
export function withAdmission(routes: Routes, readPool: () => PoolState): Routes {
  const inWork = new CallsInWork();
  const admit = (): Disposable => {
    const { deadlineAt, workspaceId: owner = "" } = findContext() ?? {};
    if (deadlineAt !== undefined && performance.now() >= deadlineAt)
      throw new ServiceError("timeout", "upstream_timeout");
    const state = readPool();
    if (state === "stuck" || (state === "busy" && inWork.hasItsPart(owner))) throw unavailable();
    return inWork.begin(owner);
  };
  return (router) => {
    const collector: Pick<ConnectRouter, "service"> = {
      service(service, implementation, options) {
        const guarded = Object.entries(implementation).map(([name, handler]) => [
          name,
          guard(handler as Handler, admit),
        ]);
        router.service(service, Object.fromEntries(guarded) as typeof implementation, options);
        return collector as ConnectRouter;
      },
    };
    routes(collector as ConnectRouter);
  };
}

function guard(handler: Handler, admit: () => Disposable): Handler {
  return async (...args) => {
    using _call = admit();
    return await handler(...args);
  };
}
