import type { ConnectRouter } from "@connectrpc/connect";
import { DiagnosticsService } from "@postrider/contracts/operations/v1/diagnostics_service_pb";
import { runChecks, type DiagnosticCheck } from "#src/diagnostics/finding.ts";

/** What a service needs to answer `postrider doctor`. */
export interface DiagnosticsOptions {
  readonly checks: readonly DiagnosticCheck[];
  /** The setting `PUBLIC_URL`, if the service reads it. */
  readonly publicUrl?: string;
  /** Returns a URL that a gateway answers with the status 204 if it has the same media key as this process. */
  readonly probeUrl?: () => string;
}

/** Adds to a service's routes the RPC by which `postrider doctor` lets the service check its part of the installation. */
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
