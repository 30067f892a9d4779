import { areas, VERSION } from "../components/operation/document.ts";
import { postmanCollection } from "../publish/postman.ts";

export function GET(): Response {
  return Response.json(postmanCollection(areas, VERSION));
}
