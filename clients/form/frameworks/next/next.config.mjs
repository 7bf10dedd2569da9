// Its modules are those of the folder above.
export default { turbopack: { root: new URL("..", import.meta.url).pathname } };
