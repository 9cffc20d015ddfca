"""Users of the public interface, as anybody outside would write them; type checkers read them, nobody runs them."""
