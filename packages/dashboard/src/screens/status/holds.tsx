import type { PlatformId } from "@postrider/client";
import type { BoundedCountJson } from "@postrider/rest/dashboard/parts";
import type { StatusJson } from "@postrider/rest/dashboard/status";
import { CirclePause, Timer } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Note } from "../../kit/card.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { Time } from "../../kit/time.tsx";
import { useAccountName } from "../../posts/use-accounts.ts";
import { useWords } from "../../words/use-words.ts";
import { statusWords } from "./status-words.ts";

type Pause = StatusJson["pauses"][number];
type HeldPlatform = StatusJson["heldPlatforms"][number];
type HeldAccount = StatusJson["heldAccounts"][number];

/** What holds publishing back, why, since when, and what waits for it. */
export function Holds({ status }: { readonly status: StatusJson }) {
  return (
    <>
      {status.pauses.map((pause) => (
        <PauseNote key={`${pause.kind} ${pause.key}`} pause={pause} />
      ))}
      {status.heldPlatforms.map((held) => (
        <PlatformNote key={`${held.platform} ${held.reason}`} held={held} />
      ))}
      {status.heldAccounts.map((held) => (
        <AccountNote key={held.accountId} held={held} />
      ))}
    </>
  );
}

export function nameOf(platform: string): string {
  return PLATFORMS[platform as PlatformId].name;
}

function countOf({ count, isMore }: BoundedCountJson): string {
  return `${count.toLocaleString("en")}${isMore ? "+" : ""}`;
}

function PauseNote({ pause }: { readonly pause: Pause }) {
  const words = useWords(statusWords);
  const { kind, key, since, reason, waiting } = pause;
  return (
    <Note tone="warn" icon={CirclePause} role="status">
      <strong>{usePauseTitle(pause)}</strong>{" "}
      {since !== null && <Labelled label={words.since} at={since} />}
      {kind === "deployment" && `${words.deploymentHint} `}
      {waiting.count === 0 ? words.nothingWaits : words.waiting(countOf(waiting))}{" "}
      {kind === "platform" && key !== null && waiting.count > 0 && <ShowPosts platform={key} />}
      {reason !== null && <p className="hint">{words.reason(reason)}</p>}
    </Note>
  );
}

function usePauseTitle({ kind, key }: Pause): string {
  const words = useWords(statusWords);
  const account = useAccountName(key ?? "", key ?? "");
  if (kind === "platform" && key !== null) return words.pausedPlatform(nameOf(key));
  if (kind === "account" && key !== null) return words.pausedAccount(account);
  return kind === "workspace" ? words.pausedWorkspace : words.pausedDeployment;
}

interface LabelledProps {
  readonly label: ReactNode;
  readonly at: string;
  /** In a sentence "Today" would begin with a capital. */
  readonly show?: "day" | "clock";
}

function Labelled({ label, at, show = "day" }: LabelledProps) {
  return (
    <>
      {label} <Time at={at} show={show} />.{" "}
    </>
  );
}

function ShowPosts({ platform }: { readonly platform: string }) {
  const words = useWords(statusWords);
  return <Link href={`/posts?platform=${platform}`}>{words.show}</Link>;
}

function PlatformNote({ held }: { readonly held: HeldPlatform }) {
  const words = useWords(statusWords);
  const { platform, reason, nextTryAt, waiting } = held;
  const name = nameOf(platform);
  return (
    <Note tone="warn" icon={Timer} role="status">
      <strong>{reason === "no_answer" ? words.slow(name) : words.appLimit(name)}</strong>{" "}
      {reason === "no_answer" && `${words.slowHint} `}
      {waiting.count > 0 && `${words.held(countOf(waiting))} `}
      {nextTryAt !== null && <Labelled label={words.nextTry} at={nextTryAt} show="clock" />}
      {words.nothingLost} {waiting.count > 0 && <ShowPosts platform={platform} />}
    </Note>
  );
}

function AccountNote({ held }: { readonly held: HeldAccount }) {
  const words = useWords(statusWords);
  const { accountId, platform, until, waiting } = held;
  const name = useAccountName(accountId, accountId);
  return (
    <Note tone="warn" icon={Timer} role="status">
      <strong>{words.accountHeld(name, nameOf(platform))}</strong> {words.accountHeldHint}{" "}
      {waiting.count > 0 && `${words.held(countOf(waiting))} `}
      <Labelled label={words.until} at={until} />
    </Note>
  );
}
