import type { Webhook, WebhookDelivery } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { Card } from "../../kit/card.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { urlText } from "./url-text.ts";
import { hrefOf } from "./use-webhook-choice.ts";
import { MAX_ENDPOINTS, webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

interface EndpointListProps {
  readonly endpoints: readonly Webhook[];
  readonly chosenId: string | undefined;
}

export function EndpointList({ endpoints, chosenId }: EndpointListProps) {
  const words = useWords(webhooksWords);
  return (
    <Card
      className={css.endpoints}
      title={words.endpoints}
      aside={words.count(endpoints.length, MAX_ENDPOINTS)}
    >
      <ul>
        {endpoints.map((endpoint) => (
          <li key={endpoint.id}>
            <Endpoint endpoint={endpoint} isChosen={endpoint.id === chosenId} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface EndpointProps {
  readonly endpoint: Webhook;
  readonly isChosen: boolean;
}

function Endpoint({ endpoint, isChosen }: EndpointProps) {
  const { id, url, status, events, description } = endpoint;
  const { data } = useQuery(webhooksApi.newest(id));
  return (
    <Link
      href={hrefOf(id)}
      className={css.endpoint}
      aria-current={isChosen ? "true" : undefined}
      title={url}
    >
      <span className="row">
        <code className="clip">{urlText(url)}</code>
        <span className="push">
          <StatusLabel status={status} loud={status === "disabled"} />
        </span>
      </span>
      <span className="row xs muted">
        <span className="clip">{description === "" ? events.join(", ") : description}</span>
        {data !== undefined && <Newest delivery={data} />}
      </span>
    </Link>
  );
}

/** What became of the newest delivery; null while there was none. */
function Newest({ delivery }: { readonly delivery: WebhookDelivery | null }) {
  const words = useWords(webhooksWords);
  const kit = useWords(kitWords);
  if (delivery === null) return <span className="push nowrap">{words.nothingSent}</span>;
  const label = words.newest(kit.status[delivery.status]);
  return (
    <span className="push nowrap">
      <StatusLabel status={delivery.status}>{label}</StatusLabel>
    </span>
  );
}
