import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import { EXAMPLE_IDS, type OperationExamples } from "./example.ts";

const FIELDS = {
  name: "Weekday mornings",
  weekdays: ["mon", "wed", "fri"],
  times: ["09:30", "18:00"],
  timezone: "Asia/Seoul",
};

const RULE = {
  id: EXAMPLE_IDS.queueSlotRule,
  ...FIELDS,
  startsOn: null,
  endsOn: "2026-12-31",
  status: "active",
  nextSlots: ["2026-11-23T00:30:00.000Z", "2026-11-23T09:00:00.000Z", "2026-11-25T00:30:00.000Z"],
  createdAt: "2026-11-20T12:00:00.000Z",
  updatedAt: "2026-11-20T12:00:00.000Z",
};

export const QUEUE_SLOT_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  listQueueSlotRules: { answers: { 200: { rules: [RULE] } } },
  createQueueSlotRule: {
    requests: {
      weekdays: {
        summary: "Twice on three days of the week, until the end of the year",
        value: { ...FIELDS, endsOn: "2026-12-31" },
      },
    },
    answers: { 201: RULE },
  },
  updateQueueSlotRule: {
    requests: {
      pause: { summary: "Pause the rule", value: { status: "paused" } },
      times: { summary: "Change the times", value: { times: ["10:00"] } },
    },
    answers: { 200: { ...RULE, status: "paused", nextSlots: [] } },
  },
};

const { "media.ready": media } = EXAMPLE_DATA;
const UPLOAD_PATH = "01a19c11-2d4e-7f60-9182-a3b4c5d6e7f9";

export const MEDIA_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  presignUpload: {
    requests: {
      image: {
        summary: "Upload an image",
        value: { fileName: "shop.jpg", contentType: "image/jpeg", bytes: media.bytes },
      },
    },
    answers: {
      201: {
        id: EXAMPLE_IDS.media,
        uploadUrl: `https://postrider.example/uploads/${UPLOAD_PATH}?token=EXAMPLE`,
        uploadPath: UPLOAD_PATH,
        uploadToken: "EXAMPLE",
        expiresAt: "2026-11-20T15:11:52.003Z",
      },
    },
  },
  completeUpload: { answers: { 200: media } },
  importMedia: {
    requests: {
      image: { summary: "Import an image", value: { url: "https://example.com/shop.jpg" } },
    },
    answers: { 201: media },
  },
  updateMedia: {
    requests: {
      describe: {
        summary: "Describe a picture for people who do not see it",
        value: { altText: "A sailing boat at sunrise" },
      },
    },
    answers: { 200: media },
  },
  deleteMedia: { answers: { 202: { id: EXAMPLE_IDS.media, status: "deleting" } } },
};
