import type { ConnectRouter } from "@connectrpc/connect";
import { DiagnosticsService } from "@postrider/contracts/operations/v1/diagnostics_service_pb";
import { runChecks, type DiagnosticCheck } from "#src/diagnostics/finding.ts";

/** What a service tells about itself to `postrider doctor`. */
export interface DiagnosticsOptions {
  readonly checks: readonly DiagnosticCheck[];
  /** The setting `PUBLIC_URL`, if the service reads it. */
  readonly publicUrl?: string;
  /** Returns an address that a gateway with the same media key answers with 204. */
  readonly probeUrl?: () => string;
}

/** Adds the RPC with which the operator's tool lets a service check its part of the installation to the routes of the service. */
export function withDiagnostics(
  routes: (router: ConnectRouter) => void,
  { checks, publicUrl = "", probeUrl }: DiagnosticsOptions,
): (router: ConnectRouter) => void {
  return (router) => {
    routes(router);
    router.service(DiagnosticsService, {
      async diagnose() {
        const findings = [...(await runChecks(checks))];
        return { findings, publicUrl, probeUrl: probeUrl?.() ?? "" };
      },
    });
  };
}
