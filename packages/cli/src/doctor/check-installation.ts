import {
  DiagnosticsService,
  type DiagnoseResponse,
} from "@postrider/contracts/operations/v1/diagnostics_service_pb";
import type { Result } from "#src/command.ts";
import { SERVICES, type ServiceName } from "#src/config.ts";
import { toFinding, toResult, type Finding } from "#src/doctor/findings.ts";
import { checkPublicAddress } from "#src/doctor/public-address.ts";
import { NotRunningError, toFailure } from "#src/failures.ts";
import type { Services } from "#src/services.ts";

/** The findings of one service. Without `response`, the request to the service failed. */
interface Answer {
  readonly service: ServiceName;
  readonly response?: DiagnoseResponse;
  readonly findings: readonly Finding[];
  /** Why the address of the service is not known. */
  readonly unknown?: NotRunningError;
}

/** Returns the finding for a service whose address or secret is unknown. Its message says what to do. */
function toUnknown(service: ServiceName, error: NotRunningError): Answer {
  const finding = { at: service, name: "answer", status: "failed", found: error.message };
  return { service, unknown: error, findings: [{ ...finding, remedy: "", guide: "" }] };
}

async function ask(services: Services, service: ServiceName): Promise<Answer> {
  try {
    const response = await services.client(service, DiagnosticsService).diagnose({});
    return {
      service,
      response,
      findings: response.findings.map((finding) => toFinding(service, finding)),
    };
  } catch (error) {
    if (error instanceof NotRunningError) return toUnknown(service, error);
    const { message } = toFailure(error, service);
    const remedy = "check that the service runs and that IDENTITY_KEYS is the operator's key";
    const guide = "docs/operations.md";
    const failed = { at: service, name: "answer", status: "failed", found: message };
    return { service, findings: [{ ...failed, remedy, guide }] };
  }
}

/** Returns the connection checks of platforms that are not set up; their findings are not shown. */
function listUnused(findings: readonly Finding[]): ReadonlySet<string> {
  const unused = findings.filter(({ status }) => status === "off");
  return new Set(unused.map(({ name }) => name.replace("settings of", "connection to")));
}

/**
 * Checks an installation: every service checks its own settings and connections, and this computer checks the public
 * address.
 */
export async function checkInstallation(services: Services): Promise<Result> {
  const answers = await Promise.all(SERVICES.map((service) => ask(services, service)));
  // When the addresses of all services are unknown, one error is printed instead of the same finding for each service.
  const [first, ...others] = answers.map(({ unknown }) => unknown);
  if (first !== undefined && others.every((each) => each !== undefined)) throw first;
  const responses = answers.flatMap(({ service, response }) =>
    response === undefined ? [] : [{ service, ...response }],
  );
  const urls = responses
    .filter(({ publicUrl }) => publicUrl !== "")
    .map(({ service, publicUrl }) => [service, publicUrl]);
  const address = await checkPublicAddress({
    urls: Object.fromEntries(urls) as Record<string, string>,
    probeUrl: responses.find(({ probeUrl }) => probeUrl !== "")?.probeUrl ?? "",
  });
  const findings = answers.flatMap((answer) => answer.findings);
  const unused = listUnused(findings);
  return toResult([...address, ...findings.filter(({ name }) => !unused.has(name))]);
}
