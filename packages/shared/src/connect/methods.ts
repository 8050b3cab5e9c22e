import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";

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
