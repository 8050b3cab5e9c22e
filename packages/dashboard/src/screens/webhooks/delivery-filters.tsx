import type { Webhook, WebhookDelivery } from "@postrider/client";
import { useMutation } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { Button } from "../../kit/button.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Segments } from "../../kit/segments.tsx";
import { Select } from "../../kit/select.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { type DeliveryFilter, webhooksApi } from "./webhooks-api.ts";
import { webhooksWords } from "./webhooks-words.ts";
import css from "./webhooks.module.css";

interface DeliveryFiltersProps {
  readonly endpoint: Webhook;
  readonly filter: DeliveryFilter;
  /** Those in the list. */
  readonly deliveries: readonly WebhookDelivery[];
  readonly onChange: (filter: DeliveryFilter) => void;
}

export function DeliveryFilters(props: DeliveryFiltersProps) {
  const { endpoint, filter, deliveries, onChange } = props;
  const words = useWords(webhooksWords);
  const canWrite = useCan()("webhooks:write");
  const failed = deliveries.filter(({ status }) => status === "failed").map(({ id }) => id);
  const sending = useMutation({
    mutationFn: () => webhooksApi.sendAgain(endpoint.id, failed),
    onMutate: () => failed.length,
    onSuccess: (_done, _given, count) => showToast(words.sentAllAgain(count)),
  });
  const events = Object.keys(words.events).map((type) => ({ value: type, label: type }));
  return (
    <>
      <div className={`filters ${css.filters}`} data-filters>
        <Segments
          label={words.filter}
          value={filter.status}
          segments={[
            { value: "", label: words.all },
            { value: "failed", label: words.failed },
            { value: "pending", label: words.waiting },
          ]}
          onChange={(status) => onChange({ ...filter, status })}
        />
        <Select
          label={words.event}
          value={filter.eventType}
          isSet={filter.eventType !== ""}
          options={[{ value: "", label: words.allEvents }, ...events]}
          onChange={(eventType) => onChange({ ...filter, eventType })}
        />
        {canWrite && endpoint.status === "active" && failed.length > 1 && (
          <Button
            className="push"
            icon={RotateCcw}
            busy={sending.isPending}
            onClick={() => sending.mutate()}
          >
            {words.sendAllAgain(failed.length)}
          </Button>
        )}
      </div>
      {sending.error !== null && <ErrorNotice error={sending.error} />}
    </>
  );
}
