import type { PlatformId } from "@postrider/client";
import type { CureKind } from "@postrider/rest/dashboard/cures";
import { useQuery } from "@tanstack/react-query";
import { ArrowUpRight, Copy, Plug, Replace, RotateCcw } from "lucide-react";
import type { ComponentType } from "react";
import { useLocation } from "wouter";
import { useConnect } from "../accounts/use-connect.tsx";
import { api } from "../api/api.ts";
import { Button, LinkButton } from "../kit/button.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { PLATFORMS } from "../kit/platform-tile.tsx";
import { showToast } from "../kit/toast.tsx";
import { useAct } from "../kit/use-act.ts";
import { useWords } from "../words/use-words.ts";
import { LimitButton } from "./limit-button.tsx";
import { postWords } from "./post-words.ts";
import { postsApi } from "./posts-api.ts";
import { profileUrlOf } from "./profile-url.ts";
import { retryOf, retryReconnected } from "./retry-reconnected.ts";

/** What the button needs to know of the failures that it mends. */
export interface Failure {
  readonly accountId: string;
  readonly platform: PlatformId;
  readonly username: string;
  readonly code: string;
  readonly kind: CureKind;
  readonly message: string | null;
  /** How many publications a retry sends again. */
  readonly retryable: number;
  readonly postId: string;
  readonly targetId: string | null;
  readonly permalink: string | null;
  /** Of one target. */
  readonly attemptCount?: number | undefined;
  /** Of a publication that is there twice. */
  readonly secondPermalink?: string | null | undefined;
}

interface CureButtonProps {
  readonly failure: Failure;
  readonly small?: boolean;
  /** One in each region. */
  readonly primary?: boolean;
}

/** The button that mends a failure; which one follows from the catalogue of errors. */
export function CureButton({ failure, small = false, primary = false }: CureButtonProps) {
  const Kind = BUTTONS[failure.kind];
  return Kind && <Kind failure={failure} small={small} kind={primary ? "primary" : "plain"} />;
}

interface KindProps {
  readonly failure: Failure;
  readonly small: boolean;
  readonly kind: "primary" | "plain";
}

/**
 * Leads to the platform and back to this page, which then retries (see use-returned-account.ts); or
 * asks for what connects the account, and retries at once.
 */
function ReconnectButton({ failure, ...look }: KindProps) {
  const { accountId, platform, username, retryable } = failure;
  const words = useWords(postWords);
  const retry = retryOf(failure, look.small);
  const [path] = useLocation();
  const { begin, isBusy, error, dialog } = useConnect({
    returnTo: `/app${path}`,
    onConnected: async () => {
      const retried = await retryReconnected(retry);
      showToast(retried === 0 ? words.connected : `${words.connected} ${words.retried(retried)}`);
    },
  });
  return (
    <>
      <Button
        {...look}
        icon={Plug}
        busy={isBusy}
        onClick={() => begin({ platform, account: { id: accountId, username }, retry })}
      >
        {look.small ? words.reconnectThenRetry(retryable) : words.reconnectThenRetryIt}
      </Button>
      {error !== undefined && <ErrorNotice error={error} />}
      {dialog}
    </>
  );
}

/** A small one stands for all posts with the cause, the one on the page of a post for that post. */
function RetryButton({ failure, ...look }: KindProps) {
  const words = useWords(postWords);
  const { accountId, code, kind, retryable, postId } = failure;
  const count = Math.max(1, retryable);
  const { run, isBusy, error } = useAct(async () => {
    const only = look.small ? undefined : postId;
    const { retried, refused } = await postsApi.retryAccount(accountId, code, only);
    const left = refused === 0 ? "" : ` ${words.someRefused(refused)}`;
    showToast(words.retried(retried) + left);
  });
  const label = {
    open_then_retry: look.small ? words.doneRetry(count) : words.doneRetryIt,
    publish_now: look.small ? words.publishMany(count) : words.publishNow,
  }[kind as "open_then_retry" | "publish_now"];
  return (
    <>
      {code === "account_action_needed" && <LookButton failure={failure} {...look} kind="plain" />}
      <Button {...look} icon={RotateCcw} busy={isBusy} onClick={run}>
        {label ?? (look.small ? words.retry(count) : words.retryIt)}
      </Button>
      {error !== undefined && <ErrorNotice error={error} />}
    </>
  );
}

function RetryLaterButton(props: KindProps) {
  const { failure, ...look } = props;
  const { data } = useQuery(postsApi.targets(failure.postId));
  const words = data?.targets.find(({ targetId }) => targetId === failure.targetId);
  return (
    <LimitButton {...look} until={words?.waitsFor?.until}>
      <RetryButton {...props} />
    </LimitButton>
  );
}

/** A new post for this account alone, with what is there already. */
function ChangeButton({ failure: { kind, postId, accountId }, ...look }: KindProps) {
  const words = useWords(postWords);
  const media = look.small ? words.changeMediaShort : words.changeMedia;
  return (
    <LinkButton {...look} icon={Replace} href={`/posts/new?from=${postId}&account=${accountId}`}>
      {kind === "change_media" ? media : words.changeContent}
    </LinkButton>
  );
}

function LookButton({ failure: { kind, platform, username, permalink }, ...look }: KindProps) {
  const words = useWords(postWords);
  const { name } = PLATFORMS[platform];
  return (
    <LinkButton
      {...look}
      iconAfter={ArrowUpRight}
      href={permalink ?? profileUrlOf(platform, username)}
    >
      {kind === "resolve" ? words.lookOn(name) : words.openPlatform(name)}
    </LinkButton>
  );
}

/** Both posts of a publication that is there twice; the account where no address is known. */
function OpenBothButtons({ failure, ...look }: KindProps) {
  const words = useWords(postWords);
  const { permalink, secondPermalink } = failure;
  if (permalink === null || !secondPermalink) return <LookButton failure={failure} {...look} />;
  return (
    <>
      <LinkButton {...look} iconAfter={ArrowUpRight} href={permalink}>
        {words.openFirst}
      </LinkButton>
      <LinkButton {...look} kind="plain" iconAfter={ArrowUpRight} href={secondPermalink}>
        {words.openSecond}
      </LinkButton>
    </>
  );
}

/** What the operator needs to find it: ids and the platform's words, no secret. */
function OperatorButton({ failure, ...look }: KindProps) {
  const words = useWords(postWords);
  const { code, platform, username, postId, targetId, message } = failure;
  const facts = [
    `${code}: ${platform} ${username}`,
    `post ${postId}`,
    `target ${targetId}`,
    message,
  ];
  const { run } = useAct(() => navigator.clipboard.writeText(facts.filter(Boolean).join("\n")));
  return (
    <Button {...look} icon={Copy} onClick={run}>
      {words.copyForOperator}
    </Button>
  );
}

function DeleteAgainButton({ failure: { postId }, ...look }: KindProps) {
  const words = useWords(postWords);
  const { run, isBusy, error } = useAct(() => api.deletePost(postId));
  return (
    <>
      <Button {...look} icon={RotateCcw} busy={isBusy} onClick={run}>
        {words.deleteAgain}
      </Button>
      {error !== undefined && <ErrorNotice error={error} />}
    </>
  );
}

const BUTTONS: Readonly<Record<CureKind | "delete_again", ComponentType<KindProps> | null>> = {
  reconnect: ReconnectButton,
  open_then_retry: RetryButton,
  retry: RetryButton,
  retry_later: RetryLaterButton,
  publish_now: RetryButton,
  change_content: ChangeButton,
  change_media: ChangeButton,
  tell_operator: OperatorButton,
  delete_again: DeleteAgainButton,
  look: LookButton,
  resolve: LookButton,
  open_both: OpenBothButtons,
  wait: null,
};
