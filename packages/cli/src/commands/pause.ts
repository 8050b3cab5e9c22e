import { PauseService } from "@postrider/contracts/delivery/v1/pause_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { toInstant } from "#src/answers.ts";
import { findText, type Arguments, type Command, type Result } from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import { findAccount, listWorkspaceIds } from "#src/find-account.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

const KINDS = ["platform", "account", "workspace"] as const;

function clientOf(services: Services) {
  return services.client("delivery", PauseService);
}

/**
 * What to pause or resume: the value of --platform, --account or --workspace, of which exactly one
 * must be given.
 */
function getScope(args: Arguments): { readonly kind: string; readonly key: string } {
  const scopes = KINDS.flatMap((kind) => {
    const key = findText(args, kind);
    return key === undefined ? [] : [{ kind, key }];
  });
  const [scope] = scopes;
  if (scope === undefined || scopes.length > 1)
    throw new UsageError("give exactly one of --platform, --account and --workspace");
  return scope;
}

/**
 * A pause with a mistyped id would have no effect. Delivery checks malformed ids.
 *
 * @throws ServiceError `not_found`
 */
async function assertExists(
  services: Services,
  { kind, key }: ReturnType<typeof getScope>,
): Promise<void> {
  if (kind === "platform" || !isId(key)) return;
  const exists =
    kind === "account"
      ? (await findAccount(services, key)) !== undefined
      : (await listWorkspaceIds(services)).includes(key);
  if (!exists) throw notFound();
}

async function pause(services: Services, args: Arguments): Promise<Result> {
  const scope = getScope(args);
  await assertExists(services, scope);
  const reason = findText(args, "reason");
  const answer = await clientOf(services).pausePublishing({
    ...scope,
    ...(reason === undefined ? {} : { reason }),
  });
  const json = {
    ...scope,
    reason: answer.pause?.reason ?? null,
    createdAt: toInstant(answer.pause?.createdAt),
  };
  return {
    json,
    text: `${scope.kind} ${scope.key}: publishing is paused until \`postrider resume\``,
  };
}

async function resume(services: Services, args: Arguments): Promise<Result> {
  const scope = getScope(args);
  const { resumed } = await clientOf(services).resumePublishing(scope);
  const text = `${scope.kind} ${scope.key}: ${resumed ? "publishing resumes" : "publishing was not paused"}`;
  return { json: { ...scope, resumed }, text };
}

async function listPauses(services: Services): Promise<Result> {
  const answer = await clientOf(services).listPauses({});
  const pauses = answer.pauses.map(({ kind, key, reason, createdAt }) => ({
    kind,
    key,
    reason: reason ?? null,
    createdAt: toInstant(createdAt),
  }));
  const rows = pauses.map((each) => [each.kind, each.key, each.createdAt ?? "", each.reason ?? ""]);
  const text = formatTable(["kind", "key", "since", "reason"], rows, "nothing is paused");
  return { json: { pauses }, text };
}

export const pauseCommands: readonly Command[] = [
  {
    words: "pause",
    synopsis: "(--platform P | --account ID | --workspace ID) [--reason TEXT]",
    summary:
      "pause publishing on a platform, for an account or for a workspace; the dashboard shows the reason to the people whose posts wait",
    run: pause,
  },
  {
    words: "resume",
    synopsis: "--platform P | --account ID | --workspace ID",
    summary: "resume publishing after a pause",
    run: resume,
  },
  { words: "pauses", synopsis: "", summary: "list what is paused", run: listPauses },
];
