import {
  type DiagnoseResponse,
  DiagnosticsService,
} from "@postrider/contracts/operations/v1/diagnostics_service_pb";
import type { Result } from "#src/command.ts";
import { type ServiceName, SERVICES } from "#src/config.ts";
import { type Finding, toFinding, toResult } from "#src/doctor/findings.ts";
import { NotRunningError, toFailure } from "#src/failures.ts";
import type { Services } from "#src/services.ts";

/**
 * Maximum duration in milliseconds of the request that shows which gateway answers at the public
 * address.
 */
const PROBE_MS = 10_000;
/** Matches host names and addresses that only this computer reaches. */
const LOOPBACK = /^(localhost|.*\.localhost|127\..*|\[?::1\]?)$/i;
/** Matches host names and addresses that platforms on the internet cannot reach. */
const PRIVATE =
  /^(localhost|.*\.(local|internal|localhost|test)|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|\[?(::1|f[cd].*|fe80.*)\]?)$/i;

type Check = Omit<Finding, "at" | "guide">;

interface PublicAddress {
  /** `PUBLIC_URL` of each service that reads it. */
  readonly urls: Readonly<Record<string, string>>;
  /**
   * A signed address that only the gateway of this installation answers with 204; empty = delivery
   * did not answer.
   */
  readonly probeUrl: string;
}

function checkAgreement({ urls }: PublicAddress): Check {
  const name = "PUBLIC_URL";
  const [first = "", ...others] = [...new Set(Object.values(urls))];
  const listed = Object.entries(urls).map(([service, url]) => `${service} has ${url}`);
  if (others.length > 0)
    return {
      name,
      status: "failed",
      found: `the services have different values: ${listed.join(", ")}`,
      remedy: "give all services and the gateway the same PUBLIC_URL",
    };
  const { protocol, hostname } = new URL(first);
  if (PRIVATE.test(hostname))
    return {
      name,
      status: "warning",
      found: `${first} can be reached only from ${LOOPBACK.test(hostname) ? "this computer" : "inside your network"}`,
      remedy:
        "Bluesky, Telegram and simulated platforms work without a public address; for the other platforms, set PUBLIC_URL to an https address that the internet reaches",
    };
  return protocol === "https:"
    ? { name, status: "ok", found: `${first} is a public https address`, remedy: "" }
    : {
        name,
        status: "failed",
        found: `${first} does not begin with https://`,
        remedy: "platforms send people and requests only to https addresses: set one up",
      };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "the request failed";
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}

/**
 * Asks the gateway at the public address, from this computer, whether it belongs to this
 * installation.
 */
async function checkGateway({ probeUrl }: PublicAddress): Promise<Check> {
  const name = "gateway and media key";
  const { origin } = new URL(probeUrl);
  const failed = (found: string, remedy: string): Check => ({
    name,
    status: "failed",
    found,
    remedy,
  });
  try {
    const options = { redirect: "manual", signal: AbortSignal.timeout(PROBE_MS) } as const;
    const answer = await fetch(probeUrl, options);
    await answer.body?.cancel();
    if (answer.status === 204)
      return {
        name,
        status: "ok",
        found: `the gateway of this installation answers at ${origin}, and has the media key of delivery`,
        remedy: "",
      };
    return failed(
      `what answers at ${origin} is not the gateway of this installation, or its MEDIA_KEY differs from delivery's (HTTP ${answer.status})`,
      "let the reverse proxy pass all paths unchanged to the gateway, and give gateway and delivery the same MEDIA_KEY",
    );
  } catch (error) {
    return failed(
      `nothing answers at ${origin}: ${describe(error)}`,
      "check the DNS, the certificate and the reverse proxy in front of the gateway",
    );
  }
}

const UNCHECKED: Check = {
  name: "gateway and media key",
  status: "warning",
  found: "the gateway was not checked, because the delivery service did not give an address for it",
  remedy: "repeat the command when delivery answers",
};

/** Checks the public address, as far as this computer can see it. */
async function checkPublicAddress(address: PublicAddress): Promise<readonly Finding[]> {
  const checks: Check[] = [];
  if (Object.keys(address.urls).length > 0) checks.push(checkAgreement(address));
  checks.push(address.probeUrl === "" ? UNCHECKED : await checkGateway(address));
  return checks.map((check) => ({
    ...check,
    at: "this computer",
    guide: "docs/platforms/README.md",
  }));
}

/** The findings of one service. Without `response`, the request to the service failed. */
interface Answer {
  readonly service: ServiceName;
  readonly response?: DiagnoseResponse;
  readonly findings: readonly Finding[];
  /** Why the address of the service is not known. */
  readonly unknown?: NotRunningError;
}

/**
 * Returns the finding for a service whose address or secret is unknown. Its message says what to
 * do.
 */
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
 * Checks an installation: every service checks its own settings and connections, and this computer
 * checks the public address.
 */
export async function checkInstallation(services: Services): Promise<Result> {
  const answers = await Promise.all(SERVICES.map((service) => ask(services, service)));
  // When the addresses of all services are unknown, one error is printed instead of the same
  // finding for each service.
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
