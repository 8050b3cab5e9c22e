import type { Webhook } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Page } from "../../kit/page.tsx";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { EndpointCard } from "./endpoint-card.tsx";
import { EndpointDrawer } from "./endpoint-drawer.tsx";
import { EndpointList } from "./endpoint-list.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { hrefOf, useWebhookChoice } from "./use-webhook-choice.ts";
import { MAX_ENDPOINTS, webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

/** Who is told what happens here, what was sent to each, and what became of it. */
export function WebhooksScreen() {
  const words = useWords(webhooksWords);
  const [, navigate] = useLocation();
  const { data, error, isPending, refetch } = useQuery(webhooksApi.endpoints());
  const [isNew, setNew] = useState(false);
  const [secret, setSecret] = useState<string>();
  const count = data?.webhooks.length ?? 0;
  const create = <CreateButton count={count} onPress={() => setNew(true)} />;
  return (
    <Page title={words.title} actions={count > 0 && create} className={css.page}>
      <MayNot count={count} />
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton />}
      {data && <Endpoints endpoints={data.webhooks} create={create} onSecret={setSecret} />}
      {isNew && (
        <EndpointDrawer
          onClose={() => setNew(false)}
          onSaved={({ id, secret: made }) => {
            setNew(false);
            setSecret(made);
            navigate(hrefOf(id));
          }}
        />
      )}
      {secret !== undefined && <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />}
    </Page>
  );
}

interface CreateButtonProps {
  readonly count: number;
  readonly onPress: () => void;
}

function CreateButton({ count, onPress }: CreateButtonProps) {
  const words = useWords(webhooksWords);
  const canWrite = useCan()("webhooks:write");
  if (!canWrite || count >= MAX_ENDPOINTS) return null;
  return (
    <Button kind="primary" icon={Plus} onClick={onPress}>
      {words.newEndpoint}
    </Button>
  );
}

/** Why there is no button that creates one. */
function MayNot({ count }: { readonly count: number }) {
  const words = useWords(webhooksWords);
  const canWrite = useCan()("webhooks:write");
  if (canWrite && count < MAX_ENDPOINTS) return null;
  return <p className="sm muted">{canWrite ? words.full(MAX_ENDPOINTS) : words.readOnly}</p>;
}

interface EndpointsProps {
  readonly endpoints: readonly Webhook[];
  readonly create: ReactNode;
  readonly onSecret: (secret: string | undefined) => void;
}

function Endpoints({ endpoints, create, onSecret }: EndpointsProps) {
  const words = useWords(webhooksWords);
  const choice = useWebhookChoice();
  const chosen = endpoints.find(({ id }) => id === choice.endpoint) ?? endpoints[0];
  if (chosen === undefined)
    return (
      <Card>
        <EmptyState title={words.none} action={create}>
          {words.noneHint}
        </EmptyState>
      </Card>
    );
  return (
    <div className={css.layout}>
      <EndpointList endpoints={endpoints} chosenId={chosen.id} />
      <EndpointCard key={chosen.id} endpoint={chosen} onSecret={onSecret} />
    </div>
  );
}
