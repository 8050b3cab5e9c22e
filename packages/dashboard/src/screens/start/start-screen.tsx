import { useQuery } from "@tanstack/react-query";
import { SquarePen } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "../../api/api.ts";
import { LinkButton } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Page } from "../../kit/page.tsx";
import { StatusIcon } from "../../kit/status.tsx";
import { accountNameOf } from "../../posts/account-name.ts";
import { postsApi } from "../../posts/posts-api.ts";
import { useReturnedAccount } from "../../posts/use-returned-account.ts";
import { useCan, useSession } from "../../session/session-context.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { ConnectList } from "./connect-list.tsx";
import { Promises } from "./promises.tsx";
import { startWords } from "./start-words.ts";
import css from "./start.module.css";

/** The three steps from an empty workspace to the first post. */
export function StartScreen() {
  const words = useWords(startWords);
  useReturnedAccount();
  const accounts = useQuery(postsApi.accounts()).data?.accounts ?? [];
  const isConnected = accounts.length > 0;
  return (
    <Page title={words.title}>
      <div className={css.first}>
        <section className="stack" aria-labelledby="first-steps">
          <div>
            <h2 id="first-steps" className={css.big}>
              {words.heading}
            </h2>
            <p className="quiet">{words.hint}</p>
          </div>
          <ol className={css.steps}>
            <Ready />
            <Step number={2} isDone={isConnected} isCurrent={!isConnected}>
              <div>
                <b>{words.connect}</b>
                <p className="sm quiet">
                  {isConnected
                    ? words.connected(accounts.map(accountNameOf).join(", "))
                    : words.connectHint}
                </p>
              </div>
              {isConnected ? (
                <details>
                  <summary className="sm quiet">{words.another}</summary>
                  <ConnectList />
                </details>
              ) : (
                <ConnectList />
              )}
            </Step>
            <Step number={3} isCurrent={isConnected}>
              <Write isConnected={isConnected} />
            </Step>
          </ol>
        </section>
        <Promises />
      </div>
    </Page>
  );
}

interface StepProps {
  readonly number: number;
  readonly isDone?: boolean;
  readonly isCurrent?: boolean;
  readonly children: ReactNode;
}

function Step({ number, isDone = false, isCurrent = false, children }: StepProps) {
  return (
    <li className={classNames(isCurrent && css.current)}>
      {isDone ? <StatusIcon status="published" /> : <span className={css.number}>{number}</span>}
      <div className="stack">{children}</div>
    </li>
  );
}

function Ready() {
  const words = useWords(startWords);
  const { verified } = useSession().workspace;
  const { language } = useSettings();
  const { data } = useQuery({
    queryKey: ["quota"],
    queryFn: ({ signal }) => api.getQuota({}, { signal }),
  });
  const limit = data && new Intl.NumberFormat(language).format(data.monthly.limit);
  return (
    <Step number={1} isDone={verified} isCurrent={!verified}>
      <div>
        <b>{verified ? words.ready : words.notVerified}</b>
        <p className="sm muted">
          {verified ? limit !== undefined && words.readyHint(limit) : words.notVerifiedHint}
        </p>
      </div>
    </Step>
  );
}

function Write({ isConnected }: { readonly isConnected: boolean }) {
  const words = useWords(startWords);
  const can = useCan();
  return (
    <div>
      <b>{words.write}</b>
      <p className="sm muted">{words.writeHint}</p>
      {can("posts:write") && (
        <LinkButton
          small
          kind={isConnected ? "primary" : "plain"}
          icon={SquarePen}
          href="/posts/new"
          className={css.begin}
        >
          {isConnected ? words.writeFirst : words.begin}
        </LinkButton>
      )}
    </div>
  );
}
