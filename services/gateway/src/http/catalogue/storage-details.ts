import { detail } from "./entry.ts";

export const STORAGE_DETAILS = {
  storage: detail(
    [
      "The storage limit does not allow this[: the limit is {limit} bytes, used {used}, reserved {reserved}, requested {requested}].",
      "Delete media that no post needs, or ask the operator for a higher limit.",
    ],
    [
      "저장 용량 한도를 넘습니다[(한도 {limit}바이트, 사용 {used}, 예약 {reserved}, 요청 {requested})].",
      "쓰지 않는 미디어를 삭제하거나 운영자에게 상향을 요청해 주세요.",
    ],
    "bytes",
  ),
  stored_files: detail(
    [
      "The workspace has too many media[: at most {limit}].",
      "Delete media that no post needs. Rejected ones go after 30 days.",
    ],
    [
      "미디어가 너무 많습니다[(최대 {limit}개)].",
      "쓰지 않는 미디어를 삭제해 주세요. 거부된 미디어는 30일 뒤에 사라집니다.",
    ],
    "media",
  ),
  pending_uploads: detail(
    [
      "The workspace has too many uploads that are not complete[: at most {limit}].",
      "Complete some first, or wait until they expire.",
    ],
    [
      "완료되지 않은 업로드가 너무 많습니다[(최대 {limit}개)].",
      "먼저 일부를 완료하거나 만료될 때까지 기다려 주세요.",
    ],
    "uploads",
  ),
};
