"""Memory that is kept between derivatives; all of it is for compiled code."""
