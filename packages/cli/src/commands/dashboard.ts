import {
  DashboardService,
  type DashboardSession,
} from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { toInstant } from "#src/answers.ts";
import { findText, getText, type Arguments, type Command, type Result } from "#src/command.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

function clientOf(services: Services) {
  return services.client("accounts", DashboardService);
}

async function issueLink(services: Services, args: Arguments): Promise<Result> {
  const scopes = (findText(args, "scopes") ?? "all").split(",").map((scope) => scope.trim());
  const workspaceId = getText(args, "workspace");
  const { url, expiresAt } = await clientOf(services).issueDashboardLink({ workspaceId, scopes });
  return {
    json: { url, workspaceId, expiresAt: toInstant(expiresAt) },
    text: `Open this link in a browser within 10 minutes; it works once:\n\n  ${url}`,
  };
}

function toJson(session: DashboardSession) {
  const { id, key, scopes, userAgent, createdAt, lastSeenAt, expiresAt } = session;
  return {
    id,
    keyId: key?.id ?? null,
    userAgent: userAgent === "" ? null : userAgent,
    scopes,
    createdAt: toInstant(createdAt),
    lastSeenAt: toInstant(lastSeenAt),
    expiresAt: toInstant(expiresAt),
  };
}

async function list(services: Services, args: Arguments): Promise<Result> {
  const workspaceId = getText(args, "workspace");
  const answer = await clientOf(services).listDashboardSessions({ workspaceId });
  const sessions = answer.sessions.map(toJson);
  const rows = sessions.map((session) => [
    session.id,
    session.userAgent ?? "unknown",
    session.keyId ?? "a link",
    session.lastSeenAt ?? "",
    session.expiresAt ?? "",
    session.scopes.join(","),
  ]);
  const headings = ["id", "browser", "opened with", "last seen", "expires", "scopes"];
  return { json: { sessions }, text: formatTable(headings, rows, "no sessions") };
}

async function revoke(services: Services, args: Arguments): Promise<Result> {
  const workspaceId = getText(args, "workspace");
  const id = findText(args, "session");
  const endsKeys = args.values["with-keys"] === true;
  const { count, madeKeys } = await clientOf(services).revokeDashboardSessions({
    workspaceId,
    endsKeys,
    ...(id === undefined ? {} : { id }),
  });
  const keys = madeKeys.map((key) => ({ id: key.id, prefix: key.prefix, name: key.name }));
  const made = keys.map((key) => `\n  ${key.id}  ${key.prefix}  ${key.name}`).join("");
  const also = endsKeys
    ? `; so do the keys that were made in them:${made}`
    : `.\nKeys that were made in them still work; \`postrider key revoke ID\` ends one:${made}`;
  return {
    json: { workspaceId, revoked: count, keysEnded: endsKeys, madeKeys: keys },
    text: `${count} sessions are revoked; requests with them fail within 5 s${made === "" ? "" : also}`,
  };
}

export const dashboardCommands: readonly Command[] = [
  {
    words: "dashboard link",
    synopsis: "--workspace ID [--scopes a,b|all]",
    summary: "make a link that opens the dashboard of a workspace once, within 10 minutes",
    run: issueLink,
  },
  {
    words: "dashboard sessions",
    synopsis: "--workspace ID",
    summary: "list the sessions of the dashboard of a workspace, newest first",
    run: list,
  },
  {
    words: "dashboard revoke",
    synopsis: "--workspace ID [--session ID] [--with-keys]",
    summary:
      "end all sessions of the dashboard of a workspace, or one, and list the API keys that were made in them; --with-keys ends these too",
    run: revoke,
  },
];
