import { getLogin } from "../../login";

const handle = (request: Request) => getLogin().handle(request);

// GET for the contract's own answer to it.
export { handle as GET, handle as POST };
