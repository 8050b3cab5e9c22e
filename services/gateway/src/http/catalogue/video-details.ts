import { detail } from "./entry.ts";

export const VIDEO_DETAILS = {
  media_codec: detail(
    [
      "The way in which this video is encoded is not accepted[: {found}][ (accepted: {allowed})].",
      "Export it again as H.264 with 4:2:0, 8 bits and AAC sound; the field `video` of the media says how it is encoded.",
    ],
    [
      "동영상의 인코딩 방식이 허용되지 않습니다[: {found}][(허용: {allowed})].",
      "H.264(4:2:0, 8비트)와 AAC 음성으로 다시 내보내 주세요. 미디어의 `video` 필드에서 인코딩 방식을 볼 수 있습니다.",
    ],
  ),
  media_frame_rate: detail(
    [
      "The frame rate of this video is not accepted[: {actual} fps, the limit is {limit} fps][ (accepted: {allowed})].",
      "Export it again with a frame rate in this range, for example 30.",
    ],
    [
      "동영상의 프레임 속도가 허용되지 않습니다[({actual}fps, 한도 {limit}fps)][(허용: {allowed})].",
      "범위 안의 프레임 속도(예: 30)로 다시 내보내 주세요.",
    ],
    "frames_per_second",
  ),
  cover_needs_video: detail(
    ["Only a video has a cover.", "Leave coverMs out."],
    ["커버는 동영상에만 있습니다.", "coverMs를 빼 주세요."],
  ),
  cover_outside_video: detail(
    [
      "The cover is not within the video[: {actual} ms, the video lasts {limit} ms].",
      "Send an earlier time.",
    ],
    [
      "커버가 동영상 범위를 벗어납니다[({actual}ms, 동영상 길이 {limit}ms)].",
      "더 이른 시각을 보내 주세요.",
    ],
  ),
} as const;
