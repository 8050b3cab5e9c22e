import type { ServiceImpl } from "@connectrpc/connect";
import type { AdmissionService } from "@postrider/contracts/accounts/v1/admission_service_pb";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { admit } from "#src/rpc/admit.ts";

export function createAdmissionService(deps: Pick<Dependencies, "sql" | "noteKeyUse">) {
  return {
    admit: (request) => admit(deps, request),
  } satisfies ServiceImpl<typeof AdmissionService>;
}
