import type { WebhookDelivery } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useWebhookChoice } from "./use-webhook-choice.ts";
import { webhooksApi } from "./webhooks-api.ts";

/**
 * The delivery of the address. If the list does not have it, because it was opened by its address
 * or left a list of failed ones when it was sent again, it is looked for.
 */
export function useChosenDelivery(
  endpointId: string,
  deliveries: readonly WebhookDelivery[],
): WebhookDelivery | undefined {
  const id = useWebhookChoice().delivery;
  const [kept, setKept] = useState<WebhookDelivery>();
  const listed = deliveries.find((one) => one.id === id);
  const enabled = id !== undefined && listed === undefined;
  const looked = useQuery({ ...webhooksApi.find(endpointId, id ?? ""), enabled }).data;
  const found = [listed, looked, kept].find((one) => one?.id === id) ?? undefined;
  // It stays in sight between the list that had it and the answer to the search.
  if (found !== undefined && found !== kept) setKept(found);
  return found;
}
