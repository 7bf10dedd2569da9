import { getLogin } from "../../login";

const handle = (request: Request) => getLogin().handle(request);

// GET, so that the handler refuses it as the contract says.
export { handle as GET, handle as POST };
