import { ServiceError, type Violation } from "@postrider/shared/errors";
import { CommandFailure } from "#src/failures.ts";

const NEW_LINK = "run the command again for a new link";

/** What happened and what to do, for each way in which an authorization on the platform's page can fail. */
const OUTCOMES: Readonly<Record<string, string>> = {
  denied: `access was denied on the page of the platform, or the app may not ask for the permissions; ${NEW_LINK}`,
  refused: `the platform rejected the authorization: check the id and the secret of the app in the settings of the accounts service; then ${NEW_LINK}`,
  expired: `the link was not used within 10 minutes; ${NEW_LINK}`,
  permission_missing:
    "a permission that publishing needs was not granted; run the command again and leave all permissions selected on the page",
  no_account: "the approved access includes no account that can publish; select one on the page",
  unavailable: `the platform did not answer; ${NEW_LINK}`,
  unanswered:
    "the accounts service did not answer until the link expired; check with `postrider account list` whether the account is connected",
};

/** Returns the path of a platform's guide in the repository. */
function withGuide(message: string, platform: string): string {
  return `${message} (docs/platforms/${platform}.md)`;
}

/** Converts the way in which an authorization failed to the failure of the command, with what the operator can do. */
export function toOutcomeFailure(platform: string, outcome: string): CommandFailure {
  const message = OUTCOMES[outcome] ?? OUTCOMES.refused ?? outcome;
  return new CommandFailure(outcome, withGuide(message, platform));
}

function explain({ code, reason, allowed = [] }: Violation, platform: string): string | undefined {
  switch (code) {
    case "login_refused":
      return withGuide(reason ?? "the platform refused the credentials", platform);
    case "platform_unavailable":
      return withGuide(`${reason ?? "the platform did not answer"}; try again later`, platform);
    case "not_configured":
      return withGuide(
        `${platform} is not set up: set the settings of its app and restart the accounts service`,
        platform,
      );
    case "unknown_platform":
      return `there is no platform \`${platform}\`; use one of ${allowed.join(", ")}`;
    default:
      return undefined;
  }
}

/** Converts an error of the accounts service to a failure that says what to do; returns other errors as they are. */
export function toConnectFailure(platform: string, error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  const [violation] = error.violations;
  const message = violation === undefined ? undefined : explain(violation, platform);
  return message === undefined ? error : new CommandFailure(error.reason, message);
}
