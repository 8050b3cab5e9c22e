import type { ServiceImpl } from "@connectrpc/connect";
import type { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { admit } from "#src/rpc/admit.ts";
import type { RpcDependencies } from "#src/rpc/dependencies.ts";

/** The RPCs of AdmissionService. */
export function createAdmissionService(deps: Pick<RpcDependencies, "sql" | "noteKeyUse">) {
  return {
    admit: (request) => admit(deps, request),
  } satisfies ServiceImpl<typeof AdmissionService>;
}
